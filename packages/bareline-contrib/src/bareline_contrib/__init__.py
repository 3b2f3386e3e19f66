"""What few need of bareline: it finds each part once this package is installed."""
