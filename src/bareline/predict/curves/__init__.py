"""The measured curves of a platform, and the costs and needs that are derived from them."""
