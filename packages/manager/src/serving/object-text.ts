/** An object as an API server writes it: indented for eyes, else one line. */
export function objectText(value: object, isForEyes: boolean): string {
  return isForEyes ? JSON.stringify(value, undefined, 2) : `${JSON.stringify(value)}\n`
}

/** The same in YAML; hardly anybody asks for it. */
export async function yamlText(value: object): Promise<string> {
  const { formatYaml } = await import('@gyropilot/foundation/yaml-text')
  return formatYaml(value)
}
