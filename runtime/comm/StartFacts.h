//===- StartFacts.h - what ranks must have in common to start -------------===//
//
// Each rank says before it connects to the others what it is about to do: a list of names,
// as people know them, and values.  Where ranks differ, all end with a message that says in
// what.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_STARTFACTS_H
#define BRAID_COMM_STARTFACTS_H

#include <string>
#include <vector>

namespace braid {

struct StartFact {
  std::string name, value; // "--lr", "0.001"
};
using StartFacts = std::vector<StartFact>;

// As bytes, and back.  Throws Error when they are not whole.
std::string packFacts(const StartFacts &facts);
StartFacts unpackFacts(const std::string &bytes);

// "--lr is 0.001 on rank 0 and 0.002 on ranks 1-3; --seed is ..."; empty when nothing differs.
// A rank without a fact does not depend on it.
std::string differencesOf(const std::vector<StartFacts> &ranks);

} // namespace braid
#endif // BRAID_COMM_STARTFACTS_H
