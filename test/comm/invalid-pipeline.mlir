// Tables of pipelines, and functions that say which cells they are.
// RUN: braid-opt %s --split-input-file --verify-diagnostics

// pipeline_c1
comm.mesh @mesh [pp = 2]
// expected-error @below {{is over the axis 'tp', which is not in the mesh {pp = 2}}}
comm.pipeline over @mesh "tp" "0F0,0B0\0A1F0,1B0\0A"

// -----

// expected-error @below {{mesh}}
comm.pipeline over @none "pp" "0F0,0B0\0A1F0,1B0\0A"

// -----

// pipeline_c2
comm.mesh @mesh [pp = 2]
comm.pipeline over @mesh "pp" "0F0,0B0\0A1F0,1B0\0A"
// expected-error @below {{is the second table of the module, but a step has one; remove one of them}}
comm.pipeline over @mesh "pp" "0F0,0B0\0A1F0,1B0\0A"

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{'comm.cell' is #comm.cell<...> on a function that 'comm.program' gives to some ranks, found #comm.cell<forward, 0>}}
func.func @all() attributes {comm.cell = #comm.cell<forward, 0>, comm.program = #comm.program<@mesh>} {
  return
}

// -----

// expected-error @below {{'comm.cell' is #comm.cell<...> on a function that 'comm.program' gives to some ranks}}
func.func @none() attributes {comm.cell = #comm.cell<forward, 0>} {
  return
}

// -----

comm.mesh @mesh [pp = 2]
// expected-error @below {{found "forward"}}
func.func @text() attributes {comm.cell = "forward", comm.program = #comm.program<@mesh, pp = [0]>} {
  return
}

// -----

// expected-error @below {{to be one of: forward, backward, input_gradient, weight_gradient, send_activation}}
// expected-error @below {{failed to parse Comm_CellAttr parameter 'kind'}}
module attributes {test.cell = #comm.cell<update, 0>} {}
