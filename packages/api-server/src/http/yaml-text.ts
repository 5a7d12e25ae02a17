/** Answers in YAML. Loaded when a request first needs it. */
import { stringify } from 'yaml'

/** Keys in order, as the real server writes them. */
export function formatYaml(value: unknown): string {
  return stringify(value, {
    sortMapEntries: true,
    lineWidth: 0,
    aliasDuplicateObjects: false,
    defaultStringType: 'PLAIN',
    version: '1.1',
  })
}
