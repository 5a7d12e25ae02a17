// Loaded before tests. To know in which test an error was thrown that nobody caught, Node's runner follows every promise of the
// process with an async hook: the simulated clusters took 303 s with it and 173 s without. Here the hook is told to leave promises
// alone (`trackPromises: false` of createHook says the same, where the hook is one's own). An error that nobody catches fails the run
// still, but the reporter cannot always say in which test it was.
import { createHook } from 'node:async_hooks'

const known = createHook({})
const leavesPromises = Object.getOwnPropertySymbols(known).find(
  ({ description }) => description === 'kNoPromiseHook',
)
const prototype = Object.getPrototypeOf(known) as { enable(): unknown }
const { enable } = prototype
// A Node that has no such property goes on to follow them.
if (leavesPromises !== undefined)
  prototype.enable = function (this: Record<symbol, boolean>): unknown {
    this[leavesPromises] = true
    return enable.call(this)
  }
