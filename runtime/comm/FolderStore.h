//===- FolderStore.h - a key-value store in a folder ----------------------===//
//
// Each key is a file, written under a temporary name and then renamed, so every visible file is complete.
//
// The folder may have leftovers from ranks that were restarted or killed. So each start has its own
// generation, a folder inside, which rank 0 names and hands out:
//
//   hello-R            written by rank R: the random number of its current start
//   welcome-R          rank 0's answer: that number, and the generation
//   generation-G/KEY   values that ranks of the generation share
//
// A rank continues only when its own number is answered, so it never reads leftovers.
//
//===----------------------------------------------------------------------===//
#ifndef BRAID_COMM_FOLDERSTORE_H
#define BRAID_COMM_FOLDERSTORE_H

#include "comm/Sockets.h"
#include "comm/Store.h"

#include <map>

namespace braid {

class FolderStore : public Store {
public:
  // Creates the folder if needed. Other ranks wait for rank 0; rank 0 welcomes them whenever it looks for a
  // key. Throws Error if other users can write to the folder and no token tells ranks from strangers.
  FolderStore(const std::string &folder, const Joining &joining, Clock::time_point deadline);

  void set(const std::string &key, const std::string &value) override;
  std::optional<std::string> find(const std::string &key) override;

private:
  std::string pathOf(const std::string &key) const;
  void write(const std::string &path, const std::string &value) const;
  void startGeneration(int size);
  void joinGeneration(const Joining &own, Clock::time_point deadline);
  void answerHellos();

  const std::string named;  // path of the folder, as given
  const Socket opened;      // the folder itself, even if it is renamed later
  const std::string folder; // path through `opened`
  const std::string number; // random number of this start of this rank
  std::string generation;   // path of the generation's folder
  // On rank 0, by rank that has not come in yet: the last hello number that was answered; empty if none
  // was.
  std::map<int, std::string> outside;
};

} // namespace braid
#endif // BRAID_COMM_FOLDERSTORE_H
