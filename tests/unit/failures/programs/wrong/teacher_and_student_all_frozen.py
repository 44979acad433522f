import torch
import torch.nn.functional as F


def distil(teacher, student, loader, T=4.0, alpha=0.7, epochs=5):
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)
    for epoch in range(epochs):
        teacher.eval()
        student.train()
        for x, y in loader:
            with torch.no_grad():
                soft = teacher(x)
                logits = student(x)  #! 12
            kd = F.kl_div(F.log_softmax(logits / T, 1), F.softmax(soft / T, 1), reduction="batchmean") * T * T
            loss = alpha * kd + (1 - alpha) * F.cross_entropy(logits, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
