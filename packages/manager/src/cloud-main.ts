#!/usr/bin/env node
/** The cloud-controller-manager binary: with `command.ts` the only place that knows the process it runs in. */
import { enableCompileCache } from 'node:module'

enableCompileCache?.()
const [{ runProgram }, { cloudControllerManager }, { cloudProviders }] = await Promise.all([
  import('./command.ts'),
  import('./cloud-controller-manager.ts'),
  import('./cloud-providers.ts'),
])
await runProgram(cloudControllerManager(cloudProviders()), process.argv.slice(2))
