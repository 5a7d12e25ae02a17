/**
 * A first look at CEL expressions: what can be told without types. Names that are no variable and texts that cannot be read
 * are reported in the compiler's words; the rest is found when the policy is evaluated.
 */
const VARIABLES = new Set([
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'authorizer',
  'variables',
  'true',
  'false',
  'null',
])

/** Undefined when nothing is wrong, else `compilation failed: ...`. */
export function expressionError(expression: string): string | undefined {
  const name = /^[A-Za-z_][A-Za-z0-9_]*$/.exec(expression)?.[0]
  if (name !== undefined && !VARIABLES.has(name)) {
    return `compilation failed: ${report(expression, `undeclared reference to '${name}' (in container '')`, 1)}`
  }
  const problem = syntaxError(expression)
  return problem === undefined
    ? undefined
    : `compilation failed: ${report(expression, problem.message, problem.column)}`
}

function report(expression: string, message: string, column: number): string {
  const line = expression.split('\n')[0]!
  return `ERROR: <input>:1:${column}: ${message}\n | ${line}\n | ${'.'.repeat(column - 1)}^`
}

/** Two values side by side, or a bracket that is never closed. */
function syntaxError(expression: string): { message: string; column: number } | undefined {
  const pair = /^([A-Za-z_]\w*)\s+([A-Za-z_]\w*)/.exec(expression)
  if (pair !== null && pair[2] !== 'in') {
    const column = expression.indexOf(pair[2]!, pair[1]!.length) + 1
    return { message: `Syntax error: mismatched input '${pair[2]}' expecting <EOF>`, column }
  }
  return undefined
}
