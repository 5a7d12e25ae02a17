/** What simulated pods can do beyond the simulation. */
import { dial } from './dial.ts'
import { secure } from './secure.ts'

export const outside = { dial, secure }
