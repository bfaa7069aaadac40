//===- Roles.h - what the role of an input says of it -----------*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_ROLES_H
#define BRAID_DIALECTS_TG_ROLES_H

#include "dialects/TG/TG.h"
#include "llvm/ADT/STLExtras.h"

namespace braid::tg {

/// Whether inputs of this role hold token numbers, of which a rank can read part of each row.
inline bool isOfTokens(RoleAttr role) {
  constexpr Role tokens[] = {Role::Tokens, Role::Targets};
  return role && llvm::is_contained(tokens, role.getValue());
}

/// Whether dim 0 of inputs of this role is the batch; null stands for no role.
inline bool isOfBatch(RoleAttr role) {
  constexpr Role rows[] = {Role::Features, Role::Labels};
  return isOfTokens(role) || (role && llvm::is_contained(rows, role.getValue()));
}

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_ROLES_H
