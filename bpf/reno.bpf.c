/* SPDX-License-Identifier: GPL-2.0-only */
#include "reno.h"
#include "shell.h"

AB_CONTROLLER("ab_reno");
