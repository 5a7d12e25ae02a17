#!/usr/bin/env node
/** The kube-controller-manager binary: with `command.ts` the only place that knows the process it runs in. */
import { enableCompileCache } from 'node:module'

enableCompileCache?.()
const [{ runProgram }, { kubeControllerManager }] = await Promise.all([
  import('./command.ts'),
  import('./kube-controller-manager.ts'),
])
await runProgram(kubeControllerManager, process.argv.slice(2))
