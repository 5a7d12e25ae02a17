/** References to variables in command, args, env and subPathExpr. Pure. */

/** `$(NAME)` by its value, as it stands where it has none; `$$` is one `$`, and what follows it no reference. */
export function withValues(text: string, valueOf: (name: string) => string | undefined): string {
  return text.replace(/\$(?:\$|\(([^)]*)\))/g, (all, name: string | undefined) =>
    name === undefined ? '$' : (valueOf(name) ?? all),
  )
}
