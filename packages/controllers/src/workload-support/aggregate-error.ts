export { aggregateErrors, errorMessage as messageOf } from '@gyropilot/foundation'
