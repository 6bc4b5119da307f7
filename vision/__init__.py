"""Computer vision: frames in, readings out."""

import os

# ONNX Runtime otherwise writes a device id at import and reports to its vendor (its Privacy.md).
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
