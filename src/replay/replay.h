#pragma once
/// The brain under a fake clock, against a plant that is not the brain's belief.
///
/// Start with `analyze` (analysis.h); the loop is in engine.h, the world in plant.h and server.h.
#include "replay/analysis.h"
#include "replay/assumptions.h"
#include "replay/engine.h"
#include "replay/experience.h"
#include "replay/horizon.h"
#include "replay/islands.h"
#include "replay/log_events.h"
#include "replay/source.h"
#include "replay/usage_of.h"
