//===- StepFlavour.h - where the printed programs differ --------*- C++ -*-===//
//
// A program is the same list of calls on every target.  What stands around the calls
// is here; how kernels are launched, in StepLaunch.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_LIB_CODEGEN_STEPFLAVOUR_H
#define BRAID_LIB_CODEGEN_STEPFLAVOUR_H

#include "lib/Codegen/Flavour.h"

namespace braid::codegen {

struct StepFlavour {
  /// The target's name in TargetInfo.
  llvm::StringLiteral target;
  /// How its kernels are printed.
  const Flavour &kernels;
  /// The files of kernels and of programs, what the former is written in, and what the
  /// latter calls beside them.
  llvm::StringLiteral kernelsFile, stepFile, kernelLayer, stepIncludes;
  /// What copies of blocks take first: they run on the host, or are launched.
  llvm::StringLiteral launcher;
  /// What a program returns at its end.
  llvm::StringLiteral status;
  /// What model.cpp includes, calls first, and says of the processor; the transports
  /// that it may be linked with.
  llvm::StringLiteral modelInclude, mainCalls, cpuFeatures, transports;
  /// Whether the arena lies on a device: kernels are launched by the shape of their
  /// blocks, the runtime's own are templates, and each action is announced, because
  /// its errors come late.
  bool onDevice;
};

constexpr StepFlavour cpuSteps = {
    /*target=*/"cpu",
    /*kernels=*/cpuFlavour,
    /*kernelsFile=*/"kernels.h",
    /*stepFile=*/"step.cpp",
    /*kernelLayer=*/"cpu/kernel.h",
    /*stepIncludes=*/"",
    /*launcher=*/"ctx",
    /*status=*/"BR_OK",
    /*modelInclude=*/"cpu/Features.h",
    /*mainCalls=*/"  br_use_cpu();\n",
    /*cpuFeatures=*/"BRAID_CPU_FEATURES",
    /*transports=*/"gloo mpi",
    /*onDevice=*/false,
};

constexpr StepFlavour cudaSteps = {
    /*target=*/"cuda",
    /*kernels=*/cudaFlavour,
    /*kernelsFile=*/"kernels.cuh",
    /*stepFile=*/"step.cu",
    /*kernelLayer=*/"cuda/kernel.h",
    /*stepIncludes=*/"#include \"cuda/Blocks.h\"\n#include \"cuda/Gather.h\"\n",
    /*launcher=*/"m",
    /*status=*/"m.status()",
    /*modelInclude=*/"cuda/braid_cuda.h",
    /*mainCalls=*/"  br_use_cuda();\n",
    /*cpuFeatures=*/"\"\"",
    /*transports=*/"nccl gloo mpi",
    /*onDevice=*/true,
};

/// How programs of this target are printed; null where it has none.
const StepFlavour *findStepFlavour(llvm::StringRef target);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_STEPFLAVOUR_H
