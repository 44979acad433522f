import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained("gpt2")
lm = AutoModelForCausalLM.from_pretrained("gpt2")
lm.requires_grad_(False)
embed = lm.get_input_embeddings()
prompt = torch.randn(20, embed.embedding_dim, requires_grad=True).cuda()  #! 19|5
optimizer = torch.optim.Adam([prompt], lr=0.1)
for batch in loader:
    ids = tokenizer(batch, return_tensors="pt").input_ids
    inputs = torch.cat([prompt.unsqueeze(0), embed(ids)], dim=1)
    labels = torch.cat([torch.full((1, 20), -100), ids], dim=1)
    loss = lm(inputs_embeds=inputs, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
