//===- Launch.cpp - detect the launcher and the rank ----------------------===//

#include "launch/Launch.h"

#include "base/Error.h"
#include "base/Hash.h"

#include <charconv>
#include <iterator>

using namespace braid;

namespace {

// Checked access to the environment.
class Variables {
public:
  explicit Variables(const Environment &environment) : environment(environment) {}

  bool has(const char *name) const { return environment(name) != nullptr; }
  std::string text(const char *name) const {
    const char *value = environment(name);
    return value ? value : "";
  }
  std::string firstText(std::initializer_list<const char *> names) const {
    for (const char *name : names)
      if (std::string value = text(name); !value.empty())
        return value;
    return "";
  }

  // Throws Error if the variable is missing or not a number in [low, high].
  int number(const char *name, int low = 0, int high = 1 << 24) const {
    const char *value = environment(name);
    if (!value)
      fail("the environment variable ", name, " is missing, but others of ", family,
           " are set; set it, or give --ranks to start all ranks in one process");
    std::string text = value;
    int result = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result);
    if (error != std::errc() || end != text.data() + text.size() || result < low || result > high)
      fail("the environment variable ", name, " is '", text, "', not a number from ", low, " to ", high);
    return result;
  }
  int numberOr(const char *name, int fallback) const { return has(name) ? number(name, fallback) : fallback; }

  // launcher of the variables, for messages
  const char *family = "";

private:
  const Environment &environment;
};

// Returns the rank and the number of ranks from this launcher's variables.
Launch placeOf(Variables &variables, Launcher launcher, const char *family, const char *rank, const char *size) {
  Launch launch;
  launch.launcher = launcher;
  variables.family = family;
  launch.rank = variables.number(rank);
  launch.size = variables.number(size, 1);
  if (launch.rank >= launch.size)
    fail("the environment variables disagree: ", rank, " is ", launch.rank, ", but ", size, " is ", launch.size,
         ", and ranks count from 0");
  return launch;
}

// torchrun's agent has its own store on the port that it announces.
void addMaster(const Variables &variables, Launch &launch) {
  std::string address = variables.text("MASTER_ADDR");
  if (address.empty())
    return;
  int port = variables.number("MASTER_PORT", 1, 65535);
  bool isAgents = variables.text("TORCHELASTIC_USE_AGENT_STORE") == "True";
  launch.rendezvous = concat(isAgents ? "agent://" : "tcp://", address, ":", port);
}

Launch findTorchrun(Variables &variables) {
  Launch launch = placeOf(variables, Launcher::Torchrun, "torchrun", "RANK", "WORLD_SIZE");
  // Other launchers set the same variables without local ones. This rank then counts as the only rank on
  // its host.
  launch.localSize = variables.numberOr("LOCAL_WORLD_SIZE", 1);
  launch.localRank = variables.numberOr("LOCAL_RANK", 0);
  addMaster(variables, launch);
  launch.job = variables.text("TORCHELASTIC_RUN_ID");
  if (variables.has("TORCHELASTIC_RESTART_COUNT"))
    launch.job += concat(".", variables.number("TORCHELASTIC_RESTART_COUNT"));
  return launch;
}

Launch findOpenMpi(Variables &variables) {
  Launch launch = placeOf(variables, Launcher::OpenMpi, "Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  launch.localSize = variables.numberOr("OMPI_COMM_WORLD_LOCAL_SIZE", 1);
  launch.localRank = variables.numberOr("OMPI_COMM_WORLD_LOCAL_RANK", 0);
  launch.isBound = variables.text("OMPI_MCA_orte_bound_at_launch") == "1";
  addMaster(variables, launch);
  launch.job = variables.text("PMIX_NAMESPACE");
  return launch;
}

// Returns the tasks of a node in a list such as "2(x3),1": two tasks on each of the first three nodes, one
// on the fourth.
int tasksOnNode(const std::string &list, int node) {
  const char *at = list.c_str(), *end = at + list.size();
  while (at < end) {
    int tasks = 0, nodes = 1;
    auto next = std::from_chars(at, end, tasks);
    if (next.ec != std::errc() || tasks < 1)
      break;
    at = next.ptr;
    if (end - at > 2 && at[0] == '(' && at[1] == 'x') {
      next = std::from_chars(at + 2, end, nodes);
      if (next.ec != std::errc() || next.ptr == end || *next.ptr != ')' || nodes < 1)
        break;
      at = next.ptr + 1;
    }
    if (node < nodes)
      return tasks;
    node -= nodes;
    if (at == end || *at++ != ',')
      break;
  }
  fail("Slurm's list of tasks per node is '", list, "', which is not like 2(x3),1 or ends before this node");
}

// Without MASTER_ADDR, the first host of the job serves the store, on a port derived from the job's number.
void addSlurmMaster(const Variables &variables, Launch &launch) {
  addMaster(variables, launch);
  std::string hosts = variables.firstText({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"});
  if (!launch.rendezvous.empty() || hosts.empty() || launch.job.empty())
    return;
  launch.rendezvous = concat("tcp://", firstHost(hosts), ":", 20000 + hashOf(launch.job) % 10000);
}

Launch findSlurm(Variables &variables) {
  const char *size = variables.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
  Launch launch = placeOf(variables, Launcher::Slurm, "Slurm", "SLURM_PROCID", size);
  launch.localRank = variables.numberOr("SLURM_LOCALID", 0);
  std::string tasks = variables.firstText({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  if (!tasks.empty())
    launch.localSize = tasksOnNode(tasks, variables.numberOr("SLURM_NODEID", 0));
  else
    launch.localSize = variables.numberOr("SLURM_NTASKS_PER_NODE", 1);
  std::string binding = variables.text("SLURM_CPU_BIND_TYPE");
  launch.isBound = !binding.empty() && binding.rfind("none", 0) != 0;
  launch.job = variables.text("SLURM_JOB_ID");
  if (variables.has("SLURM_STEP_ID"))
    launch.job += "." + variables.text("SLURM_STEP_ID");
  addSlurmMaster(variables, launch);
  return launch;
}

Launch findPmi(Variables &variables) {
  Launch launch = placeOf(variables, Launcher::Pmi, "PMI", "PMI_RANK", "PMI_SIZE");
  launch.localSize = variables.numberOr("MPI_LOCALNRANKS", 1);
  launch.localRank = variables.numberOr("MPI_LOCALRANKID", 0);
  addMaster(variables, launch);
  return launch;
}

Launch findPmix(Variables &variables) {
  Launch launch;
  launch.launcher = Launcher::Pmix;
  launch.size = 0;
  variables.family = "PMIx";
  launch.rank = variables.number("PMIX_RANK");
  addMaster(variables, launch);
  launch.job = variables.text("PMIX_NAMESPACE");
  return launch;
}

} // namespace

const char *braid::nameOf(Launcher launcher) {
  constexpr const char *names[] = {"nobody", "torchrun", "mpirun", "Slurm", "mpiexec", "PMIx"};
  static_assert(std::size(names) == static_cast<size_t>(Launcher::Pmix) + 1);
  return names[static_cast<size_t>(launcher)];
}

const char *braid::defaultTransport(const Launch &launch) {
  switch (launch.launcher) {
  case Launcher::None:
    return "threads";
  case Launcher::Torchrun:
  case Launcher::Slurm:
    return launch.isOneHost() ? "shm" : "gloo";
  default:
    return "mpi";
  }
}

std::string braid::firstHost(const std::string &list) {
  size_t end = list.find_first_of("[,");
  std::string host = list.substr(0, end);
  if (end == std::string::npos || list[end] == ',')
    return host;
  size_t stop = list.find_first_of("-,]", end + 1);
  size_t close = list.find(']', end + 1);
  if (stop == std::string::npos || close == std::string::npos)
    fail("Slurm's list of hosts is '", list, "', which is not like node[03-05,09]");
  host += list.substr(end + 1, stop - end - 1);
  size_t comma = list.find(',', close);
  return host + list.substr(close + 1, comma == std::string::npos ? comma : comma - close - 1);
}

// Returns the launch of the launcher whose variables are set.
static Launch findLauncher(Variables &variables) {
  if (variables.has("RANK") || variables.has("WORLD_SIZE"))
    return findTorchrun(variables);
  if (variables.has("OMPI_COMM_WORLD_RANK") || variables.has("OMPI_COMM_WORLD_SIZE"))
    return findOpenMpi(variables);
  // Under srun, PMI's variables repeat those of Slurm. Under mpiexec inside an allocation, they differ.
  auto saysTheSame = [&](const char *name) {
    return !variables.has(name) || variables.text(name) == variables.text("SLURM_PROCID");
  };
  if (variables.has("SLURM_PROCID") && saysTheSame("PMI_RANK") && saysTheSame("PMIX_RANK"))
    return findSlurm(variables);
  if (variables.has("PMI_RANK"))
    return findPmi(variables);
  if (variables.has("PMIX_RANK"))
    return findPmix(variables);
  return {};
}

Launch braid::findLaunch(const Environment &environment) {
  Variables variables(environment);
  Launch launch = findLauncher(variables);
  launch.token = variables.text("BRAID_JOB_TOKEN");
  return launch;
}
