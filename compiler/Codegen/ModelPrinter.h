//===- ModelPrinter.h - prints the tables of the runtime --------*- C++ -*-===//
#ifndef BRAID_COMPILER_CODEGEN_MODELPRINTER_H
#define BRAID_COMPILER_CODEGEN_MODELPRINTER_H

#include "compiler/Codegen/Codegen.h"
#include "compiler/Codegen/StepPrinter.h"

namespace braid::codegen {

/// Returns the text of model.cpp: persistent tensors, inputs and results of the programs, matmuls and collectives of
/// each kind of ranks, the mesh, the plan, and main.
mlir::FailureOr<std::string> printModel(mlir::ModuleOp module, const StepPrinter &steps, RankTables &ranks,
                                        const PipelineTables &pipeline, llvm::StringRef planJson);

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_MODELPRINTER_H
