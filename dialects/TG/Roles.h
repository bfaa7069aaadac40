//===- Roles.h - what the role of an input implies --------------*- C++ -*-===//
#ifndef BRAID_DIALECTS_TG_ROLES_H
#define BRAID_DIALECTS_TG_ROLES_H

#include "dialects/TG/TG.h"
#include "llvm/ADT/STLExtras.h"

namespace braid::tg {

/// Returns whether inputs of this role hold token ids. A rank may read only a part of each of their rows.
inline bool isOfTokens(RoleAttr role) {
  constexpr Role tokens[] = {Role::Tokens, Role::Targets};
  return role && llvm::is_contained(tokens, role.getValue());
}

/// Returns whether dim 0 of inputs of this role is the batch. A null role means no role.
inline bool isOfBatch(RoleAttr role) {
  constexpr Role rows[] = {Role::Features, Role::Labels};
  return isOfTokens(role) || (role && llvm::is_contained(rows, role.getValue()));
}

} // namespace braid::tg

#endif // BRAID_DIALECTS_TG_ROLES_H
