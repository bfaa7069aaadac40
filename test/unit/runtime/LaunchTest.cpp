//===- LaunchTest.cpp - ranks from the environment ------------------------===//

#include "core/Error.h"
#include "core/Launch.h"

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

const Variables torchrun = {{"RANK", "3"},         {"WORLD_SIZE", "4"},       {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "29500"}};
const Variables openMpi = {{"OMPI_COMM_WORLD_RANK", "1"},       {"OMPI_COMM_WORLD_SIZE", "8"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                           {"OMPI_MCA_orte_bound_at_launch", "1"}, {"PMIX_NAMESPACE", "77"}, {"PMIX_RANK", "1"}};
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

TEST(Launch, nobody) {
  Launch launch = find({{"PATH", "/bin"}});
  EXPECT_EQ(launch.launcher, Launcher::None);
  EXPECT_EQ(launch.size, 1);
  EXPECT_STREQ(defaultTransport(launch.launcher), "threads");
}

TEST(Launch, torchrun) {
  Launch launch = find(torchrun);
  EXPECT_EQ(launch.launcher, Launcher::Torchrun);
  EXPECT_EQ(launch.rank, 3);
  EXPECT_EQ(launch.size, 4);
  EXPECT_EQ(launch.localRank, 1);
  EXPECT_EQ(launch.localSize, 2);
  EXPECT_EQ(launch.rendezvous, "tcp://node1:29500");
  EXPECT_STREQ(defaultTransport(launch.launcher), "gloo");
}

TEST(Launch, torchrunsAgentOwnsItsPort) {
  Launch launch = find(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                       {"TORCHELASTIC_RUN_ID", "abc"},
                                       {"TORCHELASTIC_RESTART_COUNT", "2"}}));
  EXPECT_EQ(launch.rendezvous, "agent://node1:29500");
  EXPECT_EQ(launch.job, "abc.2");
  EXPECT_EQ(find(with(torchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "False"}})).rendezvous, "tcp://node1:29500");
}

TEST(Launch, openMpi) {
  Launch launch = find(openMpi);
  EXPECT_EQ(launch.launcher, Launcher::OpenMpi);
  EXPECT_EQ(launch.rank, 1);
  EXPECT_EQ(launch.size, 8);
  EXPECT_EQ(launch.localSize, 4);
  EXPECT_TRUE(launch.isBound);
  EXPECT_EQ(launch.rendezvous, "");
  EXPECT_EQ(launch.job, "77");
  EXPECT_STREQ(defaultTransport(launch.launcher), "mpi");
}

TEST(Launch, slurm) {
  Launch launch = find(slurm);
  EXPECT_EQ(launch.launcher, Launcher::Slurm);
  EXPECT_EQ(launch.rank, 5);
  EXPECT_EQ(launch.size, 7);
  EXPECT_EQ(launch.localSize, 2);
  EXPECT_EQ(launch.job, "4711.0");
  EXPECT_EQ(launch.rendezvous.rfind("tcp://node03:2", 0), 0u) << launch.rendezvous;
  EXPECT_EQ(find(with(slurm, {{"MASTER_ADDR", "a"}, {"MASTER_PORT", "5"}})).rendezvous, "tcp://a:5");
  EXPECT_EQ(find(with(slurm, {{"SLURM_NODEID", "3"}})).localSize, 1);
  EXPECT_EQ(find(with(slurm, {{"SLURM_STEP_NUM_TASKS", "6"}})).size, 6);
  EXPECT_FALSE(launch.isBound);
  EXPECT_TRUE(find(with(slurm, {{"SLURM_CPU_BIND_TYPE", "mask_cpu:"}})).isBound);
}

TEST(Launch, pmi) {
  Launch launch = find({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}});
  EXPECT_EQ(launch.launcher, Launcher::Pmi);
  EXPECT_EQ(launch.size, 2);
  EXPECT_EQ(launch.localRank, 1);
  launch = find({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "x"}});
  EXPECT_EQ(launch.launcher, Launcher::Pmix);
  EXPECT_EQ(launch.size, 0);
}

// Each may run inside the next.
TEST(Launch, order) {
  EXPECT_EQ(find(with(torchrun, openMpi)).launcher, Launcher::Torchrun);
  EXPECT_EQ(find(with(openMpi, slurm)).launcher, Launcher::OpenMpi);
  EXPECT_EQ(find(with(slurm, {{"PMI_RANK", "5"}, {"PMI_SIZE", "7"}})).launcher, Launcher::Slurm);
  EXPECT_EQ(find(with(slurm, {{"PMI_RANK", "1"}, {"PMI_SIZE", "7"}})).launcher, Launcher::Pmi);
}

TEST(Launch, malformed) {
  EXPECT_EQ(refusal(with(torchrun, {{"RANK", "x"}})),
            "the environment variable RANK is 'x', not a number from 0 to 16777216");
  EXPECT_EQ(refusal(with(torchrun, {{"WORLD_SIZE", "0"}})),
            "the environment variable WORLD_SIZE is '0', not a number from 1 to 16777216");
  EXPECT_EQ(refusal(with(torchrun, {{"RANK", "4"}})),
            "the environment variables disagree: RANK is 4, but WORLD_SIZE is 4, and ranks count from 0");
  EXPECT_EQ(refusal(without(torchrun, "WORLD_SIZE")),
            "the environment variable WORLD_SIZE is missing, but others of torchrun are set; set it, or give --ranks to "
            "start all ranks in one process");
  EXPECT_NE(refusal(without(torchrun, "MASTER_PORT")).find("MASTER_PORT is missing"), std::string::npos);
  EXPECT_NE(refusal(with(torchrun, {{"MASTER_PORT", "99999"}})).find("not a number from 1 to 65535"), std::string::npos);
  EXPECT_NE(refusal(without(openMpi, "OMPI_COMM_WORLD_SIZE")).find("of Open MPI are set"), std::string::npos);
  EXPECT_NE(refusal(without(slurm, "SLURM_NTASKS")).find("SLURM_NTASKS is missing"), std::string::npos);
  EXPECT_NE(refusal(with(slurm, {{"SLURM_STEP_TASKS_PER_NODE", "2(x"}})).find("not like 2(x3),1"), std::string::npos);
  EXPECT_NE(refusal(with(slurm, {{"SLURM_STEP_NODELIST", "node[03"}})).find("not like node[03-05,09]"),
            std::string::npos);
}

TEST(Launch, firstHosts) {
  EXPECT_EQ(firstHost("a"), "a");
  EXPECT_EQ(firstHost("a,b"), "a");
  EXPECT_EQ(firstHost("n[1-3]"), "n1");
  EXPECT_EQ(firstHost("n[07,9-12]-x,m3"), "n07-x");
}

} // namespace
