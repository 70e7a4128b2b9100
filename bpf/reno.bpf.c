/* SPDX-License-Identifier: GPL-2.0-only */
#include "include/reno.h"
#include "shell.h"

AB_CONTROLLER("ab_reno");
