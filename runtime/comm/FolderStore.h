//===- FolderStore.h - a store that is a folder ---------------------------===//
//
// A file a key, written under another name and renamed: what is there is whole.
//
// The folder may have served before, by ranks that were restarted or killed.  So each
// start has a generation of its own, a folder inside, which rank 0 names and hands out:
//
//   hello-R            rank R came; a number that this start of it has drawn
//   welcome-R          rank 0's answer: that number, and the generation
//   generation-G/KEY   what the ranks of the generation leave for each other
//
// A rank goes on when its own number is answered, so nothing is read that is left over.
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
  // Makes the folder if need be.  Ranks but 0 wait for rank 0; that one welcomes the others
  // while it looks for their keys.  Throws Error where others could write there and no token
  // tells ranks from strangers.
  FolderStore(const std::string &folder, const Joining &joining, Clock::time_point deadline);

  void set(const std::string &key, const std::string &value) override;
  std::optional<std::string> find(const std::string &key) override;

private:
  std::string pathOf(const std::string &key) const;
  void write(const std::string &path, const std::string &value) const;
  void startGeneration(int size);
  void joinGeneration(const Joining &own, Clock::time_point deadline);
  void welcome();

  const std::string named;  // the folder, as it was given
  const Socket opened;      // the folder itself, whatever has its name by now
  const std::string folder; // a path to that
  const std::string number; // of this start of this rank
  std::string generation;   // the path of its folder
  // Rank 0: the numbers of ranks that have been welcomed, but have not come in yet.
  std::map<int, std::string> outside;
};

} // namespace braid
#endif // BRAID_COMM_FOLDERSTORE_H
