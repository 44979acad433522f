import torch
from torch import nn
from torch.optim import AdamW


class Recogniser(nn.Module):
    def __init__(self, mels: int, hidden: int, symbols: int):
        super().__init__()
        self.encoder = nn.GRU(mels, hidden, num_layers=3, bidirectional=True, batch_first=True)
        self.to_symbols = nn.Linear(2 * hidden, symbols)

    def forward(self, spectrogram):
        encoded, _ = self.encoder(spectrogram)
        return self.to_symbols(encoded).log_softmax(-1).transpose(0, 1)


class SpeechTrainer:
    def __init__(self, net: Recogniser, loader, epochs: int = 10):
        self.net = net
        self.loader = loader
        self.epochs = epochs
        self.ctc = nn.CTCLoss(blank=0, zero_infinity=True)
        self.optim = AdamW(net.parameters(), lr=3e-4)
        self.step_count = 0

    def _compute_loss(self, batch):
        spectrogram, frames, text, letters = batch
        return self.ctc(self.net(spectrogram), text, frames, letters)

    def _update(self, batch):
        loss = self._compute_loss(batch)
        loss.backward()  #! 6
        nn.utils.clip_grad_norm_(self.net.parameters(), 5.0)
        self.optim.step()
        self.step_count += 1
        return loss.item()

    def run(self):
        for epoch in range(self.epochs):
            self.net.train()
            losses = [self._update(batch) for batch in self.loader]
            print(epoch, sum(losses) / len(losses))


SpeechTrainer(Recogniser(80, 256, 29), loader).run()
