"""The commands of create: files that make single kinds from flags."""
