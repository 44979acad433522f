// Small maps of the units of a layer. Pointing at one, or moving the focus to it, is told to the page, which shows it
// large. The teller is a component of its own, outside of what is redrawn while training: only there is it heard at once.

const EVENT = "tensor-ops-lab-unit";
const PAUSE = 80; // milliseconds that the pointer stays before it means something

/** The maps: `maps` has a text of digits for each unit, row by row from the top, which index `palette`. */
export function show({ data: sent, parentElement }) {
  const data = JSON.parse(new TextDecoder().decode(sent));
  const colours = data.palette.map((colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)));
  const group = parentElement.querySelector("[role=group]");
  group.setAttribute("aria-label", data.label);
  while (group.children.length > data.maps.length) group.lastChild.remove();
  while (group.children.length < data.maps.length) group.append(button(group.children.length));
  data.maps.forEach((map, unit) => {
    const canvas = group.children[unit].firstChild;
    group.children[unit].setAttribute("aria-label", `Unit ${unit + 1}`);
    if (canvas.dataset.shown === data.palette[0] + map) return;
    canvas.dataset.shown = data.palette[0] + map;
    canvas.width = canvas.height = data.side;
    const image = new ImageData(data.side, data.side);
    [...map].forEach((digit, at) => image.data.set([...colours[parseInt(digit, 36)], 255], 4 * at));
    canvas.getContext("2d").putImageData(image, 0, 0);
  });
}

function button(unit) {
  const element = document.createElement("button");
  element.type = "button";
  element.title = `Unit ${unit + 1}`;
  element.append(document.createElement("canvas"));
  const point = () => window.dispatchEvent(new CustomEvent(EVENT, { detail: unit }));
  const leave = () => window.dispatchEvent(new CustomEvent(EVENT, { detail: null }));
  element.onpointerenter = point;
  element.onpointerleave = leave;
  element.onfocus = point;
  element.onblur = leave;
  return element;
}

/** Tells the page the number of the unit, from 0; null when it is none. */
export function tell({ parentElement, setStateValue }) {
  if (parentElement.dataset?.ready) return;
  if (parentElement.dataset) parentElement.dataset.ready = "yes";
  let waiting, told = null;
  const heard = (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (event.detail !== told) setStateValue("unit", (told = event.detail));
    }, PAUSE);
  };
  window.addEventListener(EVENT, heard);
  return () => {
    clearTimeout(waiting);
    window.removeEventListener(EVENT, heard);
  };
}
