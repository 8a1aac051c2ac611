/** Trades of vector T14, one list per assignment key, percent. */
export const T14 = {
  champion: [[0.5, 0.7, 0.4], [-0.6, -0.9], [1, 1.3, 0.8, 1.1], [-0.2, 0.1], [0.3]],
  challenger: [
    [1.1, 0.9],
    [-0.3, 0.2, -0.1],
    [1.6, 1.4],
    [0.4, 0.6, 0.5],
    [0.7, 0.9],
  ],
};
