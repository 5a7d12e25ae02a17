/** A filter could not judge a node: no node is chosen in this try, even if others would do. */
export class FilterError extends Error {}
