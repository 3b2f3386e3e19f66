"""Parts of bareline that few users need; bareline finds them once this package is installed."""
