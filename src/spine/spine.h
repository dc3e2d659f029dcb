#pragma once
/// The event spine: one append-only stream on which every decision, attempt, outcome and price lands.
#include "spine/checkpoint.h"
#include "spine/event.h"
#include "spine/evidence.h"
#include "spine/label.h"
#include "spine/live_column.h"
#include "spine/log.h"
#include "spine/memory_disk.h"
#include "spine/read.h"
#include "spine/record.h"
#include "spine/store.h"
#include "spine/symbols.h"
