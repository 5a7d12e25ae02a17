#!/usr/bin/env node
/** The cloud-controller-manager binary: with `command.ts` the only place that knows the process it runs in. */
import { cloudControllerManager } from './cloud/cloud-controller-manager.ts'
import { cloudProviders } from './cloud/cloud-providers.ts'
import { runProgram } from './command.ts'

// Not awaited: docs/decisions/0017-packed-start.md has why. It ends the process itself.
void runProgram(cloudControllerManager(cloudProviders()), process.argv.slice(2))
