//===- FolderStore.h - a store that is a folder ---------------------------===//
#ifndef BRAID_COMM_FOLDERSTORE_H
#define BRAID_COMM_FOLDERSTORE_H

#include "comm/Store.h"

namespace braid {

// A file a key, written under another name and renamed: what is there is whole.
class FolderStore : public Store {
public:
  // Makes the folder if need be.
  explicit FolderStore(std::string folder);

  void set(const std::string &key, const std::string &value) override;
  std::optional<std::string> find(const std::string &key) override;

private:
  std::string pathOf(const std::string &key) const;

  const std::string folder;
};

} // namespace braid
#endif // BRAID_COMM_FOLDERSTORE_H
