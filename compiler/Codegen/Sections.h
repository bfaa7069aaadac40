//===- Sections.h - the sections of a generated program ---------*- C++ -*-===//
//
// The generated function of a program has a heading wherever the phase or the unit of its actions changes. Both are
// facts (dialects/TG/Facts.h) of the ops in an action: the unit of the first op, and the earliest of their phases.
// Programs without training have no phases, and actions without a unit are headed by their layer. Communication has no
// headings: collectives are started and waited for among the actions of other units, where they overlap best.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMPILER_CODEGEN_SECTIONS_H
#define BRAID_COMPILER_CODEGEN_SECTIONS_H

#include "compiler/Codegen/ArenaMap.h"

namespace braid::codegen {

class Sections {
public:
  Sections(exec::ProgramOp program, const ArenaMap &arena);
  /// Returns the heading of the section that an action begins, such as "forward: h.0"; empty if the action continues
  /// the current section. Must be called for the actions in order.
  std::string begin(exec::ActionOpInterface action);

private:
  bool trains = false; // the program writes persistent tensors
  std::string current;
};

} // namespace braid::codegen

#endif // BRAID_COMPILER_CODEGEN_SECTIONS_H
