//===- Status.cpp - results of GPU calls ----------------------------------===//

#include "gpu/Status.h"

#include "base/Error.h"

using namespace braid;

void GpuStatus::check(const char *purpose) const {
  if (isGood())
    return;
  clearGpuError();
  fail(call, purpose, ": ", describe());
}

const char *ProgramErrors::actionName() const {
  return program && action >= 0 && action < program->n_actions ? program->actions[action].name : "";
}

std::string ProgramErrors::place() const {
  if (!program)
    return "";
  if (action < 0)
    return concat(program->name, ": ");
  const char *name = actionName();
  return concat(program->name, ", action ", action, *name ? concat(" (", name, ")") : "", ": ");
}

void ProgramErrors::note(const GpuStatus &status, const char *purpose) {
  if (status.isGood())
    return;
  note(concat(status.call, purpose, ": ", status.describe()));
  clearGpuError();
}

void ProgramErrors::note(const std::string &text) {
  if (!any())
    first = concat(place(), text);
}
