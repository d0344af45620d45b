#pragma once
// Where plug-ins that were written before interface version 4 look for the interface.

#include "../conduit.h"
