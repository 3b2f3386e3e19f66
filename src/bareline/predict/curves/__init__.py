"""The measured curves of a ladder, and the costs and needs that are read from them."""
