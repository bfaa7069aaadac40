//===- TGOps.td - the whole tg dialect ---------------------------*- tablegen -*-===//
include "dialects/TG/TGDialect.td"
include "dialects/TG/Facts.td"
include "dialects/TG/TGPrimitives.td"
include "dialects/TG/TGComposites.td"
include "dialects/TG/TGExperts.td"
include "dialects/TG/TGOptimizers.td"
