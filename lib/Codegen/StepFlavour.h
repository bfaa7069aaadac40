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
  /// The files of kernels and of programs, and what the former is written in.
  llvm::StringLiteral kernelsFile, stepFile, kernelLayer;
  /// What copies of blocks take first: they run on the host, or are launched.
  llvm::StringLiteral launcher;
  /// What a program returns at its end.
  llvm::StringLiteral status;
  /// What model.cpp includes, calls first, and says of the processor.
  llvm::StringLiteral modelInclude, mainCalls, cpuFeatures;
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
    /*launcher=*/"ctx",
    /*status=*/"BR_OK",
    /*modelInclude=*/"cpu/Features.h",
    /*mainCalls=*/"",
    /*cpuFeatures=*/"BRAID_CPU_FEATURES",
    /*onDevice=*/false,
};

constexpr StepFlavour cudaSteps = {
    /*target=*/"cuda",
    /*kernels=*/cpuFlavour,
    /*kernelsFile=*/"kernels.cuh",
    /*stepFile=*/"step.cu",
    /*kernelLayer=*/"cuda/kernel.h",
    /*launcher=*/"m",
    /*status=*/"m.status()",
    /*modelInclude=*/"cuda/braid_cuda.h",
    /*mainCalls=*/"  br_use_cuda();\n",
    /*cpuFeatures=*/"\"\"",
    /*onDevice=*/true,
};

/// How programs of this target are printed; null where it has none.
const StepFlavour *findStepFlavour(llvm::StringRef target);

} // namespace braid::codegen

#endif // BRAID_LIB_CODEGEN_STEPFLAVOUR_H
