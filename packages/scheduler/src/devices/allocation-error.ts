/** What is asked for can be judged for no node: the try ends with it, though others might fit. */
export class AllocationError extends Error {}
