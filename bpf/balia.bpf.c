/* SPDX-License-Identifier: GPL-2.0-only */
#include "include/balia.h"
#include "shell.h"

AB_CONTROLLER("ab_balia");
