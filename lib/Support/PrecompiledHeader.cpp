// Anchors the precompiled header of the MLIR-based components.
#include "PrecompiledHeader.h"
