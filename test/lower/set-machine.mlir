// exec.machine on a module, and exec-set-machine, which writes it.
// RUN: split-file %s %t
// DEFINE: %{link} = 20,1.25
// DEFINE: %{set} = braid-opt %t/empty.mlir --exec-set-machine="link=%{link} compute=100,20"
// RUN: %{set} | FileCheck %s --check-prefix=ONE
// ONE: module attributes {exec.machine = #exec.machine<compute = [1.000000e+02, 2.000000e+01], link = [2.000000e+01, 1.250000e+00]>}
// REDEFINE: %{link} = tp:5,100,0,1.25,dp:20,1
// RUN: %{set} | FileCheck %s --check-prefix=AXES
// AXES: link = [0.000000e+00, 1.250000e+00], links = {dp = array<f64: 2.000000e+01, 1.000000e+00>, tp = array<f64: 5.000000e+00, 1.000000e+02>}>
// What it writes can be read.
// RUN: %{set} | braid-opt | FileCheck %s --check-prefix=AXES

// DEFINE: %{refuses} = not %{set} 2>&1 | FileCheck %s -DLINK=%{link} --check-prefix=LINK
// LINK: error: exec-set-machine: link '[[LINK]]' is not latency_us,GBps, as in 20,1.25 or, by axis, tp:5,100,dp:20,1.25
// REDEFINE: %{link} = fast
// RUN: %{refuses}
// REDEFINE: %{link} = 20
// RUN: %{refuses}
// REDEFINE: %{link} = 20,0
// RUN: %{refuses}
// REDEFINE: %{link} = inf,1
// RUN: %{refuses}
// REDEFINE: %{link} = tp:20,1,tp:5,1
// RUN: %{refuses}
// REDEFINE: %{link} = 20,1,5,1
// RUN: %{refuses}
// REDEFINE: %{link} = :20,1
// RUN: %{refuses}
// RUN: not braid-opt %t/empty.mlir --exec-set-machine=compute=0,1 2>&1 | FileCheck %s --check-prefix=COMPUTE
// COMPUTE: error: exec-set-machine: compute '0,1' is not GFLOPS,GBps, as in 100,20

// RUN: not braid-opt %t/three.mlir 2>&1 | FileCheck %s --check-prefix=THREE
// THREE: error: compute must be [GFLOP/s, GB/s], found array<f64: 1.000000e+00, 2.000000e+00, 3.000000e+00>
// RUN: not braid-opt %t/axis.mlir 2>&1 | FileCheck %s --check-prefix=AXIS
// AXIS: error: tp must be [latency in us, GB/s], found "fast"
// RUN: not braid-opt %t/place.mlir 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: error: 'func.func' op 'exec.machine' belongs on a module, as #exec.machine<link = [20.0, 1.25]>

//--- empty.mlir
module {
}
//--- three.mlir
module attributes {exec.machine = #exec.machine<compute = [1.0, 2.0, 3.0]>} {
}
//--- axis.mlir
module attributes {exec.machine = #exec.machine<links = {tp = "fast"}>} {
}
//--- place.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {exec.machine = #exec.machine<link = [20.0, 1.25]>} {
  return %x : tensor<4xf32>
}
