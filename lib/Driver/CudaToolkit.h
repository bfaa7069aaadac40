//===- CudaToolkit.h - the CUDA compiler and what it compiles for -*- C++ -*-===//
#ifndef BRAID_LIB_DRIVER_CUDATOOLKIT_H
#define BRAID_LIB_DRIVER_CUDATOOLKIT_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace braid {

/// The path of nvcc: `named` if that is not empty, or what CUDA_HOME or PATH have;
/// empty where there is none.  An error if `named` is not there.
llvm::Expected<std::string> findNvcc(llvm::StringRef named);

/// The GPUs that this nvcc compiles for, or, without one, those that CUDA 13 knows:
/// sm_80, ..., with the variants that have all of a GPU's own instructions (sm_90a).
llvm::Expected<std::vector<std::string>> gpuNames(llvm::StringRef nvcc);

} // namespace braid

#endif // BRAID_LIB_DRIVER_CUDATOOLKIT_H
