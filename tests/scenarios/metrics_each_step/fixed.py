"""Trains two networks against each other and scores every step."""

import numpy as np
import torch
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from torch import nn


def main():
    torch.manual_seed(0)
    images = torch.as_tensor(load_digits(return_X_y=True)[0], dtype=torch.float32) / 16
    generator = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.Sigmoid())
    critic = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    generator_optimizer = torch.optim.Adam(generator.parameters(), lr=1e-3)
    critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
    loss_function = nn.BCEWithLogitsLoss()
    ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
    scores, truths = [], []
    for step in range(80):
        real = images[torch.randint(len(images), (64,))]
        fake = generator(torch.randn(64, 16))
        critic_optimizer.zero_grad()
        real_score, fake_score = critic(real), critic(fake.detach())
        critic_loss = loss_function(real_score, ones) + loss_function(fake_score, zeros)
        critic_loss.backward()
        critic_optimizer.step()
        generator_optimizer.zero_grad()
        generator_loss = loss_function(critic(fake), ones)
        generator_loss.backward()
        generator_optimizer.step()
        scores += [real_score.detach().numpy(), fake_score.detach().numpy()]
        truths += [ones.numpy(), zeros.numpy()]
        if step % 10 == 0:
            area = roc_auc_score(np.concatenate(truths).ravel(), np.concatenate(scores).ravel())
        if step % 20 == 0:
            print(f"step {step} critic {critic_loss.item():.3f} area {area:.3f}")


if __name__ == "__main__":
    main()
