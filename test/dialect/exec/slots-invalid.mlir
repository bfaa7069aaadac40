// RUN: braid-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{'exec.slots' of argument #0 is the symbol of slots, found "saved"}}
func.func @f(%x: tensor<16xf32> {exec.slots = "saved"}) {
  return
}

// -----

// expected-error @below {{has the category activations, but lives across programs}}
exec.tensor @rstd at 4096 bytes 64 category activations : tensor<16xf32> = #tg.state<"rstd", #tg.init<zeros>, kind = saved>

// -----

// expected-error @below {{is a saved of the parameter "w"; a saved belongs to no parameter; drop 'of'}}
exec.tensor @rstd at 4096 bytes 64 slots @s category activations : tensor<16xf32> = #tg.state<"rstd", #tg.init<zeros>, of = "w", kind = saved>

// -----

// expected-error @below {{has 0 slots; expected at least 1}}
exec.slots @saved.0 0

// -----

// expected-error @below {{has -1 slots; expected at least 1}}
exec.slots @saved.0 -1 at 4096 bytes 1024
