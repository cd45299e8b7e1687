// φ and φ′ as the kernels read them: deplda.kernels.layouts, field by field; weights of topics are
// float, and `word_sums` is added (deplda.kernels.cuda.fast.put_topics).
#pragma once

struct WordTables {
    const long long *row_starts;
    const int *row_labels;
    const float *row_values;
    const double *row_sums;
    const double *row_totals;
    const long long *column_starts;
    const int *column_words;
    const float *column_values;
    const double *base;
    const double *base_sums;
};

struct TopicTables {
    const long long *topic_starts;
    const int *topic_labels;
    const float *topic_values;
    const double *topic_sums;
    const double *topic_base_sums;
    const long long *label_starts;
    const int *label_topics;
    const float *label_values;
    const float *base;
    const double *base_sums;
    const float *word_topics;
    const double *word_totals;
    const double *label_base;
    const double *label_base_sum;
    const double *word_sums; // of a single topic: running sums of A_wc P_c in each word's row
};

struct TopicSets {
    const long long *set_starts;
    const long long *label_starts;
    const int *label_topics;
    const double *label_values;
    const double *base;
};
