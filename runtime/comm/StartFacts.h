//===- StartFacts.h - facts that all ranks must share ---------------------===//
//
// Before a rank connects to the others, it publishes what it will run: a list of names, as users know them,
// and values. If ranks differ, all ranks end with a message that lists the differences.
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

// Encodes facts as bytes and decodes them. Throws Error if the bytes are incomplete.
std::string packFacts(const StartFacts &facts);
StartFacts unpackFacts(const std::string &bytes);

// Returns a text such as "--lr is 0.001 on rank 0 and 0.002 on ranks 1-3; --seed is ...", or an empty
// string if nothing differs. A rank without a fact does not depend on it.
std::string differencesOf(const std::vector<StartFacts> &ranks);

} // namespace braid
#endif // BRAID_COMM_STARTFACTS_H
