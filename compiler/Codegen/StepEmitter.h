//===- StepEmitter.h - the target emitters of programs ----------*- C++ -*-===//
//
// A program is the same list of calls on every target. This file has the target-specific text around the calls;
// PrintLaunch.cpp prints the kernel launches.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_STEPEMITTER_H
#define BRAID_COMPILER_CODEGEN_STEPEMITTER_H

#include "compiler/Codegen/KernelEmitter.h"

namespace braid::codegen {

/// Target-specific parts of the text of a program.
struct StepEmitter {
  /// The target's name (lib/Target/TargetInfo.h).
  llvm::StringLiteral target;
  /// The emitter of the target's kernels.
  const KernelEmitter &kernels;
  /// Files of kernels and of programs, the header with the functions that kernels call, and further includes of the
  /// programs.
  llvm::StringLiteral kernelsFile, stepFile, kernelLayer, stepIncludes;
  /// The header with attention by tiles.
  llvm::StringLiteral attentionInclude;
  /// First argument of block copies, which run on the host or are launched.
  llvm::StringLiteral launcher;
  /// Return value of a program.
  llvm::StringLiteral status;
  /// Parts of model.cpp: its include, the first calls of main, the CPU features, and the transports that the binary may
  /// be linked with.
  llvm::StringLiteral modelInclude, mainCalls, cpuFeatures, transports;
};

constexpr StepEmitter cpuStepEmitter = {
    /*target=*/"cpu",
    /*kernels=*/cpuKernelEmitter,
    /*kernelsFile=*/"kernels.h",
    /*stepFile=*/"step.cpp",
    /*kernelLayer=*/"cpu/kernel.h",
    /*stepIncludes=*/"",
    /*attentionInclude=*/"#include \"cpu/Attention.h\"\n",
    /*launcher=*/"ctx",
    /*status=*/"BR_OK",
    /*modelInclude=*/"cpu/Features.h",
    /*mainCalls=*/"  br_use_cpu();\n",
    /*cpuFeatures=*/"BRAID_CPU_FEATURES",
    /*transports=*/"gloo mpi",
};

constexpr StepEmitter cudaStepEmitter = {
    /*target=*/"cuda",
    /*kernels=*/cudaKernelEmitter,
    /*kernelsFile=*/"kernels.cuh",
    /*stepFile=*/"step.cu",
    /*kernelLayer=*/"cuda/kernel.h",
    /*stepIncludes=*/"#include \"cuda/Blocks.h\"\n#include \"cuda/Gather.h\"\n#include \"cuda/MatmulRest.h\"\n",
    /*attentionInclude=*/"#include \"cuda/AttentionTiles.h\"\n",
    /*launcher=*/"m",
    /*status=*/"m.status()",
    /*modelInclude=*/"cuda/braid_cuda.h",
    /*mainCalls=*/"  br_use_cuda();\n",
    /*cpuFeatures=*/"\"\"",
    /*transports=*/"nccl gloo mpi",
};

constexpr const StepEmitter *stepEmitters[] = {&cpuStepEmitter, &cudaStepEmitter};

/// Returns the emitter for this target, or null.
const StepEmitter *findStepEmitter(llvm::StringRef target);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_STEPEMITTER_H
