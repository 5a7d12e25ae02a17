#!/usr/bin/env node
/** The `gyro` command. Sets the process up before anything heavy is loaded. */
import { enableCompileCache } from 'node:module'

enableCompileCache?.()
const { main } = await import('./command.ts')
await main(process.argv.slice(2))
