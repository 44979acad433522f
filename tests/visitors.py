"""Apps in a server of their own, and visitors who speak Streamlit's protocol with one, without a browser."""

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import connect

KEPT = 4  # large messages; a browser keeps those of the last two runs
FINISHED = (ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)


def knock(url, origin=None, **options):
    """A websocket to the app at `url`, as an async context manager, opened by a page of `origin`."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    return connect(address, origin=origin, subprotocols=["streamlit"], compression=None, max_size=None, **options)


class Visitor:
    """One session: what a browser sends and keeps, as far as a script can see it.

    elements  of the present page, the last one of each place: place -> Element
    blocks    what holds them, such as columns: place -> Block
    received  the kinds of messages that the last run sent: "delta", "navigation", "page_not_found", ...
    """

    def __init__(self, socket, page=""):
        """socket: an open one, from `knock`; page: its address, such as "training-lab" or "graph-lab?stage=backward"."""
        self.socket = socket
        self.page, _, self._query = page.partition("?")
        self.elements = {}
        self.blocks = {}
        self.received = []
        self._page_hash = ""
        self._states = {}  # id of a widget -> what it was set to
        self._fragments = {}  # id of a widget -> the fragment around it
        self._kept = {}  # hash -> message: the server sends only the hash of a large one that has not changed

    async def run(self, *widgets, fragment=""):
        """Run the page, or a fragment of it, with widgets set to these states (WidgetState), and wait for its end."""
        message = BackMsg()
        wish = message.rerun_script
        wish.query_string, wish.page_script_hash, wish.fragment_id = self._query, self._page_hash, fragment
        if not self._page_hash:
            wish.page_name = self.page
        wish.cached_message_hashes.extend(self._kept)
        self._states |= {widget.id: widget for widget in widgets}
        wish.widget_states.widgets.extend(self._states.values())
        await self.socket.send(message.SerializeToString())
        self.received = []
        if not fragment:
            self.elements.clear()
            self.blocks.clear()
        while True:
            answer = ForwardMsg.FromString(await self.socket.recv())
            kind = answer.WhichOneof("type")
            if kind == "ref_hash":
                answer.delta.CopyFrom(self._kept[answer.ref_hash].delta)
                kind = "delta"
            elif answer.metadata.cacheable:
                self._kept[answer.hash] = answer
                if len(self._kept) > KEPT:
                    del self._kept[next(iter(self._kept))]
            self.received.append(kind)
            place = tuple(answer.metadata.delta_path)
            if kind == "delta" and answer.delta.HasField("new_element"):
                self._take(place, answer.delta)
            elif kind == "delta" and answer.delta.HasField("add_block"):
                self.blocks[place] = answer.delta.add_block
            elif kind == "navigation":
                self._page_hash = answer.navigation.page_script_hash
            elif kind == "page_info_changed":
                self._query = answer.page_info_changed.query_string
            elif kind == "script_finished" and answer.script_finished in FINISHED:
                return

    def find(self, kind, wanted=lambda element: True):
        """The first element of a kind such as "button" on the page that is wanted, or None."""
        elements = (getattr(element, kind) for element in self.elements.values() if element.WhichOneof("type") == kind)
        return next(filter(wanted, elements), None)

    def fragment_of(self, element):
        return self._fragments[element.id]

    def _take(self, place, delta):
        element = delta.new_element
        kind = element.WhichOneof("type")
        if kind == "exception":
            raise RuntimeError(f"The page failed: {element.exception.type}: {element.exception.message}")
        self.elements[place] = element
        if identity := getattr(getattr(element, kind), "id", ""):
            self._fragments[identity] = delta.fragment_id
