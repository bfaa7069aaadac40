//===- Communications.h - what ranks of order tests do ----------*- C++ -*-===//
#ifndef BRAID_TEST_UNIT_SCHEDULE_COMMUNICATIONS_H
#define BRAID_TEST_UNIT_SCHEDULE_COMMUNICATIONS_H

#include "lib/Schedule/Order.h"

namespace braid::test {

inline OrderProblem::Communication group(unsigned communicator, unsigned content = 1) {
  return {OrderProblem::CommunicationKind::Group, communicator, 0, content, 1, 1};
}
inline OrderProblem::Communication send(unsigned communicator, int64_t peer, unsigned tensors = 1) {
  return {OrderProblem::CommunicationKind::Send, communicator, peer, 0, tensors, 0};
}
inline OrderProblem::Communication recv(unsigned communicator, int64_t peer, unsigned tensors = 1) {
  return {OrderProblem::CommunicationKind::Recv, communicator, peer, 0, 0, tensors};
}

} // namespace braid::test

#endif // BRAID_TEST_UNIT_SCHEDULE_COMMUNICATIONS_H
