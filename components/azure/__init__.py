"""AKS: everything that is declared in Azure. Never imports add-ons or another cloud."""
