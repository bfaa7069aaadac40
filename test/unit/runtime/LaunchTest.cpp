//===- LaunchTest.cpp - ranks from the environment ------------------------===//

#include "launch/Launch.h"
#include "base/Error.h"

#include <gtest/gtest.h>
#include <map>

using namespace braid;

namespace {

using Variables = std::map<std::string, std::string>;

Launch find(const Variables &variables) {
  return findLaunch([&](const char *name) {
    auto at = variables.find(name);
    return at == variables.end() ? nullptr : at->second.c_str();
  });
}

std::string refusal(const Variables &variables) {
  try {
    find(variables);
    return "";
  } catch (const Error &error) {
    return error.what();
  }
}

const Variables torchrun = {{"RANK", "3"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "node1"},
                            {"MASTER_PORT", "29500"}};
const Variables openMpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "8"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                           {"OMPI_MCA_orte_bound_at_launch", "1"},
                           {"PMIX_NAMESPACE", "77"},
                           {"PMIX_RANK", "1"}};
const Variables slurm = {{"SLURM_PROCID", "5"},
                         {"SLURM_NTASKS", "7"},
                         {"SLURM_LOCALID", "1"},
                         {"SLURM_NODEID", "2"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x3),1"},
                         {"SLURM_JOB_ID", "4711"},
                         {"SLURM_STEP_ID", "0"},
                         {"SLURM_STEP_NODELIST", "node[03-05,09]"}};

Variables with(Variables variables, const Variables &more) {
  for (const auto &[name, value] : more)
    variables[name] = value;
  return variables;
}
Variables without(Variables variables, const std::string &name) {
  variables.erase(name);
  return variables;
}

// Returns the launch as text.
std::string said(const Variables &variables) {
  Launch launch = find(variables);
  std::string text = std::string(nameOf(launch.launcher)) + ": rank " + std::to_string(launch.rank) + " of " +
                     std::to_string(launch.size) + ", here " + std::to_string(launch.localRank) + " of " +
                     std::to_string(launch.localSize);
  if (launch.isBound)
    text += ", bound";
  if (!launch.rendezvous.empty())
    text += ", at " + launch.rendezvous;
  if (!launch.job.empty())
    text += ", job " + launch.job;
  return text + ", over " + defaultTransport(launch);
}

TEST(Launch, launchers) {
  const Variables agent = with(
      torchrun,
      {{"TORCHELASTIC_USE_AGENT_STORE", "True"}, {"TORCHELASTIC_RUN_ID", "abc"}, {"TORCHELASTIC_RESTART_COUNT", "2"}});
  const std::pair<Variables, const char *> cases[] = {
      {{{"PATH", "/bin"}}, "nobody: rank 0 of 1, here 0 of 1, over threads"},
      {torchrun, "torchrun: rank 3 of 4, here 1 of 2, at tcp://node1:29500, over gloo"},
      {with(torchrun, {{"LOCAL_WORLD_SIZE", "4"}}),
       "torchrun: rank 3 of 4, here 1 of 4, at tcp://node1:29500, over shm"},
      // torchrun's agent owns the port.
      {agent, "torchrun: rank 3 of 4, here 1 of 2, at agent://node1:29500, job abc.2, over gloo"},
      {openMpi, "mpirun: rank 1 of 8, here 1 of 4, bound, job 77, over mpi"},
      {with(slurm, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "5"}}),
       "Slurm: rank 5 of 7, here 1 of 2, at tcp://a:5, job 4711.0, over gloo"},
      {{{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}},
       "mpiexec: rank 1 of 2, here 1 of 2, over mpi"},
      {{{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "x"}}, "PMIx: rank 1 of 0, here 0 of 1, job x, over mpi"},
  };
  for (const auto &[variables, text] : cases)
    EXPECT_EQ(said(variables), text);
  EXPECT_EQ(find(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).rendezvous, "tcp://node1:29500");
}

// Every launcher can pass these variables on.
TEST(Launch, tokens) {
  EXPECT_EQ(find(with(torchrun, {{"BRAID_JOB_TOKEN", "secret"}})).token, "secret");
  EXPECT_EQ(find(with(slurm, {{"BRAID_JOB_TOKEN", "secret"}})).token, "secret");
  EXPECT_EQ(find(torchrun).token, "");
}

TEST(Launch, ofOneHost) {
  EXPECT_FALSE(find(torchrun).isOneHost());
  EXPECT_TRUE(find(with(torchrun, {{"LOCAL_WORLD_SIZE", "4"}})).isOneHost());
  EXPECT_FALSE(find(without(torchrun, "LOCAL_WORLD_SIZE")).isOneHost());
}

TEST(Launch, slurm) {
  EXPECT_EQ(find(slurm).rendezvous.rfind("tcp://node03:2", 0), 0u) << find(slurm).rendezvous;
  EXPECT_EQ(find(with(slurm, {{"SLURM_NODEID", "3"}})).localSize, 1);
  EXPECT_EQ(find(with(slurm, {{"SLURM_STEP_NUM_TASKS", "6"}})).size, 6);
  EXPECT_TRUE(find(with(slurm, {{"SLURM_CPU_BIND_TYPE", "mask_cpu:"}})).isBound);
}

// Each launcher may run inside the next one.
TEST(Launch, order) {
  EXPECT_EQ(find(with(torchrun, openMpi)).launcher, Launcher::Torchrun);
  EXPECT_EQ(find(with(openMpi, slurm)).launcher, Launcher::OpenMpi);
  EXPECT_EQ(find(with(slurm, {{"PMI_RANK", "5"}, {"PMI_SIZE", "7"}})).launcher, Launcher::Slurm);
  EXPECT_EQ(find(with(slurm, {{"PMI_RANK", "1"}, {"PMI_SIZE", "7"}})).launcher, Launcher::Pmi);
}

TEST(Launch, malformed) {
  const std::pair<Variables, const char *> cases[] = {
      {with(torchrun, {{"RANK", "x"}}), "the environment variable RANK is 'x', not a number from 0 to 16777216"},
      {with(torchrun, {{"WORLD_SIZE", "0"}}),
       "the environment variable WORLD_SIZE is '0', not a number from 1 to 16777216"},
      {with(torchrun, {{"RANK", "4"}}),
       "the environment variables disagree: RANK is 4, but WORLD_SIZE is 4, and ranks count from 0"},
      {without(torchrun, "WORLD_SIZE"),
       "the environment variable WORLD_SIZE is missing, but others of torchrun are set; set it, or give --ranks to "
       "start all ranks in one process"},
      {without(torchrun, "MASTER_PORT"), "MASTER_PORT is missing"},
      {with(torchrun, {{"MASTER_PORT", "99999"}}), "not a number from 1 to 65535"},
      {without(openMpi, "OMPI_COMM_WORLD_SIZE"), "of Open MPI are set"},
      {without(slurm, "SLURM_NTASKS"), "SLURM_NTASKS is missing"},
      {with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}}), "not like 2(x3),1"},
      {with(slurm, {{"SLURM_STEP_NODELIST", "node[03"}}), "not like node[03-05,09]"},
  };
  for (const auto &[variables, message] : cases)
    EXPECT_NE(refusal(variables).find(message), std::string::npos) << refusal(variables);
}

TEST(Launch, firstHosts) {
  const std::pair<const char *, const char *> cases[] = {
      {"a", "a"}, {"a,b", "a"}, {"n[1-3]", "n1"}, {"n[07,9-12]-x,m3", "n07-x"}};
  for (auto [list, host] : cases)
    EXPECT_EQ(firstHost(list), host);
}

} // namespace
